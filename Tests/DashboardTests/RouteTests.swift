import PushModel
import TestSupport
import Testing

@testable import Dashboard

struct RouteTests {
    @Test(arguments: [
        (Route.overview, "/"),
        (.deliveries(), "/deliveries"),
        (.deliveries(Route.Query([("reason", "a b&c=d/é")])), "/deliveries?reason=a%20b%26c%3Dd%2F%C3%A9"),
        (.delivery(Sample.id(7)), "/deliveries/00000000-0000-4000-8000-000000000007"),
        (
            .notification(Sample.id(7), Route.Query([("names", "1")])),
            "/notifications/00000000-0000-4000-8000-000000000007?names=1"
        ),
        (.retry(Sample.id(7)), "/deliveries/00000000-0000-4000-8000-000000000007/retry"),
        (.confirm(.cancel, Route.Query([("state", "available")])), "/deliveries/confirm?state=available&action=cancel"),
        (.bulkStart(.retry), "/deliveries/retry"),
        (.stopBulk(Sample.id(7)), "/bulk/00000000-0000-4000-8000-000000000007/stop"),
        (.pause(.apnsProduction), "/providers/apns%3Aproduction/pause"),
        (.resume(.fcm), "/providers/fcm/resume"),
        (.asset("a b.css", version: "1"), "/assets/a%20b.css?v=1"),
    ])
    func `an address is percent-encoded`(route: Route, expected: String) {
        #expect(route.address == expected)
    }

    @Test func `a query loses one field and keeps the others in order`() {
        let query = Route.Query([("state", "discarded"), ("kind", "system"), ("since", "2h")])
        #expect(query.without("kind").encoded == "?state=discarded&since=2h")
        #expect(query.without("state").without("kind").without("since").encoded == "")
    }
}

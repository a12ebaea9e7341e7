import FoundationEssentials
import JSONWebToken
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

extension DashboardBrowserTests {
    /// What operators do, and that the queue does it.
    @Suite struct Acting {
        @Test func `a discarded delivery is retried and becomes accepted before one's eyes`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (_, token, notifications) = try await visit.discarded(2)
            let first = try await visit.delivery(of: notifications[0])
            let path = "/deliveries/\(first.text)"
            try await visit.signIn(as: .operator, at: path)
            #expect(try await browser.text("#outcome .pill") == "Discarded")
            // Whoever shrinks back leaves it as it is, and has the focus where it was.
            try await browser.click("#outcome form[action$=retry] button")
            try await browser.wait(for: "Retry this delivery?", in: "dialog h2")
            #expect(try await browser.run("return document.activeElement.textContent") == "Leave it")
            try await browser.press("\u{E00C}")
            #expect(try await browser.exists("dialog") == false)
            #expect(try await browser.run("return document.activeElement.textContent") == "Retry")
            #expect(try await visit.installation.ends(of: notifications[0], count: 1) == ["discarded BadPriority"])

            // Slow, so that there is something to watch.
            visit.installation.simulator.setFaults(
                FaultPlan([FaultRule(.apns, token: token, delayMilliseconds: 1500)]))
            try await browser.click("#outcome form[action$=retry] button")
            try await visit.confirm("Retry this delivery?")
            try await browser.wait(for: "Put back, to be sent now.", in: ".notice")
            try await visit.mark()
            try await browser.wait(for: "Accepted", in: "#outcome .pill")
            #expect(try await visit.isMarked())
            #expect(try await browser.path() == path)
            try await browser.wait(for: "Retried", in: "#touched")
            #expect(try await browser.text("#touched").contains("dashboard:operator@127.0.0.1"))
            #expect(try await browser.text("#steps").contains("Try 2"))
            #expect(try await browser.exists("#outcome form") == false)
            #expect(try await visit.installation.ends(of: notifications[0], count: 1) == ["accepted"])
            // The notice is told once.
            try await visit.open(path)
            #expect(try await browser.exists(".notice") == false)

            // By somebody else meanwhile: in the list, which is live as well.
            visit.installation.simulator.setFaults(FaultPlan())
            let second = try await visit.delivery(of: notifications[1])
            try await visit.open("/deliveries?notification=\(notifications[1].text)")
            try await browser.wait(for: "Live", in: "#live")
            try await browser.wait(for: "Discarded", in: "#row-\(second.text)")
            try await visit.mark()
            try await visit.act("/deliveries/\(second.text)/retry")
            try await browser.wait(for: "Accepted", in: "#row-\(second.text)")
            #expect(try await visit.isMarked())
            #expect(try await browser.complaints() == [])
        }

        @Test func `a provider is paused with a reason, pushes wait, and go when it is resumed`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let installation = visit.installation
            let account = try await installation.account()
            let phone = try await installation.phone(.android, of: account)
            try await visit.signIn(as: .operator)
            try await browser.click("#pause-fcm summary")
            // Not without a reason.
            try await browser.click("#pause-fcm button")
            #expect(try await browser.exists("dialog") == false)
            try await browser.type("Google has an incident", into: "#pause-fcm-reason")
            try await browser.click("#pause-fcm button")
            try await browser.wait(for: "Pause FCM?", in: "dialog h2")
            #expect(try await browser.text("dialog").contains("No worker sends to it"))
            try await visit.confirm("Pause FCM?")
            try await browser.wait(for: "FCM is paused.", in: ".notice")
            let provider = try await browser.text("#provider-fcm")
            #expect(provider.contains("Paused") && provider.contains("Google has an incident"), "\(provider)")
            #expect(provider.contains("dashboard:operator@127.0.0.1"), "\(provider)")
            try await installation.waitForHeartbeats(2)

            let waiting = try await installation.notify(account, kind: "invitation_received")
            try await eventually {
                try await installation.number(
                    "select count(*) from push.waiting where notification_id = \(waiting) and reason = 'provider_paused'"
                )
                    == 1
            }
            #expect(installation.simulator.received().contains { $0.deviceToken == phone.token } == false)
            try await visit.mark()
            try await browser.wait(for: "Waiting\n1", in: "#provider-fcm")

            try await browser.click("#provider-fcm form[action$=resume] button")
            try await visit.confirm("Resume FCM?")
            try await browser.wait(for: "FCM is resumed.", in: ".notice")
            #expect(try await installation.ends(of: waiting, count: 1) == ["accepted"])
            try await browser.wait(for: "Open", in: "#provider-fcm .pill")
            try await visit.open("/activity")
            let activity = try await browser.text("tbody")
            #expect(activity.contains("Paused") && activity.contains("Resumed"), "\(activity)")
            #expect(activity.contains("Google has an incident"), "\(activity)")
            #expect(try await browser.complaints() == [])
        }

        @Test func `a waiting delivery is cancelled and never sent`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let installation = visit.installation
            let account = try await installation.account()
            let phone = try await installation.phone(.android, of: account)
            try await visit.withFCMPaused {
                let id = try await installation.notify(account, kind: "invitation_received")
                try await eventually {
                    try await installation.number(
                        "select count(*) from push.waiting where notification_id = \(id) and lease_token is null") == 1
                }
                let delivery = try await visit.delivery(of: id)
                try await visit.signIn(as: .operator, at: "/deliveries/\(delivery.text)")
                #expect(try await browser.text("#outcome .pill") == "Waiting")
                try await browser.click("#outcome form[action$=cancel] button")
                try await visit.confirm("Cancel this delivery?")
                try await browser.wait(for: "Cancelled", in: "#outcome .pill")
                #expect(try await browser.text(".notice") == "Cancelled.")
                #expect(try await installation.ends(of: id, count: 1) == ["cancelled operator"])
            }
            // One that was not cancelled goes: what would have gone has gone by then.
            let next = try await installation.notify(account, kind: "invitation_accepted")
            #expect(try await installation.ends(of: next, count: 1) == ["accepted"])
            #expect(installation.simulator.received().count { $0.deviceToken == phone.token } == 1)
            #expect(try await browser.complaints() == [])
        }

        @Test func `everything that a filter matches is retried, counted first`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (account, _, notifications) = try await visit.discarded(12)
            try await visit.signIn(as: .operator, at: "/deliveries?account=\(account.text)&state=discarded")
            try await browser.click(".bulk a[href*='action=retry']")
            try await browser.wait(for: "Matched now\n12", in: ".figures")
            #expect(try await visit.installation.ends(of: notifications[11], count: 1) == ["discarded BadPriority"])
            #expect(try await browser.text("main form button") == "Retry 12 deliveries")
            try await browser.click("main form button")
            try await browser.wait(for: "Finished", in: "#bulk .pill")
            #expect(try await browser.path().hasPrefix("/bulk/"))
            let figures = try await browser.text("#bulk .figures")
            #expect(figures.contains("Changed\n12") && figures.contains("Left as they were\n0"), "\(figures)")
            #expect(
                try await browser.run("const p = document.getElementById('bulk-progress'); return p.value / p.max") == 1
            )
            for id in notifications {
                #expect(try await visit.installation.ends(of: id, count: 1) == ["accepted"])
            }
            try await visit.open("/activity")
            #expect(try await browser.text("tbody tr .number").contains("12\nof 12"))
            #expect(try await browser.complaints() == [])
        }

        @Test func `a bulk action is stopped under way: the rest stays`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let installation = visit.installation
            let account = try await installation.account()
            try await installation.phone(.android, of: account)
            // More than a slice.
            let count = 1200
            try await visit.withFCMPaused {
                try await installation.admin.query(
                    """
                    insert into notifications (account_id, kind, actor_name)
                    select \(account), 'invitation_received', 'Anna' from generate_series(1, \(count)::integer)
                    """)
                try await eventually {
                    try await installation.number(
                        "select count(*) from push.waiting where account_id = \(account) and lease_token is null")
                        == count
                }
                try await visit.signIn(as: .operator, at: "/deliveries?account=\(account.text)")
                try await browser.click(".bulk a[href*='action=cancel']")
                try await browser.wait(for: "Cancel 1,200 deliveries", in: "main form button")
                // The slice has to wait for this lock, so that there is time to stop it.
                try await installation.admin.run(script: "begin; lock table push.waiting in share mode")
                do {
                    try await browser.click("main form button")
                    try await browser.wait(for: "Running", in: "#bulk .pill")
                    try await browser.click("#bulk form button")
                    try await browser.wait(for: "Stop it?", in: "dialog h2")
                    // Not waited for: the answer to this click may come after the slice only.
                    try await browser.run("setTimeout(() => document.querySelector('dialog button').click())")
                    try await eventually {
                        try await installation.number(
                            """
                            select (select count(*) from push.bulk_actions where state = 'stopping')
                                + (select count(*) from pg_stat_activity where datname = current_database()
                                    and pid <> pg_backend_pid() and wait_event_type = 'Lock'
                                    and query like '%set state = ''stopping''%')
                            """) > 0
                    }
                } catch {
                    try await installation.admin.run(script: "rollback")
                    throw error
                }
                try await installation.admin.run(script: "commit")
                try await browser.wait(for: "Stopped", in: "#bulk .pill")
                #expect(try await browser.exists("#bulk form") == false)
                let figures = try await browser.text("#bulk .figures")
                #expect(figures.contains("Matched at the start\n1,200"), "\(figures)")
                // The slice under way was done, or had not begun.
                let left = try await installation.number(
                    "select count(*) from push.waiting where account_id = \(account)")
                #expect(figures.contains(left == count ? "Changed\n0" : "Changed\n1,000"), "\(figures)")
                #expect([count, count - 1000].contains(left))
            }
            try await installation.waitUntilDrained()
            let states = try await installation.number(
                """
                select count(*) from push.deliveries d join notifications n on n.id = d.notification_id
                where n.account_id = \(account) and d.state in ('accepted', 'cancelled')
                """)
            #expect(states == count)
            #expect(try await browser.complaints() == [])
        }
    }
}

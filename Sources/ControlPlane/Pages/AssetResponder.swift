import Dashboard
import HTTPServer

/// The files that pages load.
enum AssetResponder {
    /// An address with the version of the file may be kept for ever; one without is asked for again each time.
    static func response(_ name: String, _ head: RequestHead) -> Response {
        guard let asset = Assets.asset(named: name) else {
            return Response(status: 404, text: "There is no such file.\n")
        }
        let isPinned = head.queryValue("v") == asset.version
        let headers: [RequestHead.Item] = [
            .init("ETag", asset.etag),
            .init("Cache-Control", isPinned ? "public, max-age=31536000, immutable" : "no-cache"),
        ]
        guard !head.values("if-none-match").contains(where: { $0.contains(asset.etag) }) else {
            return Response(status: 304, headers: headers)
        }
        return Response(
            status: 200, headers: [.init("Content-Type", asset.contentType)] + headers, body: .bytes(asset.bytes))
    }
}

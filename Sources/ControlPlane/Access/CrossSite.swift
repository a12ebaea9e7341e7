import HTTPServer

/// Whether a form was sent by a page of ours.
///
/// The token in the form decides; what browsers say of themselves is asked, too: of the two defences one alone is
/// enough, and they fail in different ways.
enum CrossSite {
    /// Judged from the head alone: false when the browser says that another site sent it.
    static func mayBeOurs(_ head: RequestHead) -> Bool {
        let sites = head.values("sec-fetch-site")
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
        let origins = head.values("origin")
        guard let origin = origins.first else { return true }
        guard origins.count == 1, let host = head.value("host"), let scheme = origin.firstRange(of: "://") else {
            return false
        }
        return origin[scheme.upperBound...].lowercased() == host.lowercased()
    }

    /// Judged from the form: the CSRF token is there once, and the session's.
    static func isOurs(_ form: [RequestHead.Item], _ caller: Caller) -> Bool {
        switch caller.proof {
        case .bearer: return true
        case .session(let session, _):
            let tokens = form.filter { $0.name == "csrf" }.map(\.value)
            return tokens.count == 1 && Secret(session.csrfToken).matches(tokens[0])
        }
    }
}

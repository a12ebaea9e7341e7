/// What stands in every request to the providers, for showing a request.
package struct ProviderIdentity: Sendable {
    package var apnsTopic: String?
    /// Nil: alerts are silent.
    package var apnsSound: String?
    package var fcmProject: String?

    package init(apnsTopic: String? = nil, apnsSound: String? = nil, fcmProject: String? = nil) {
        self.apnsTopic = apnsTopic
        self.apnsSound = apnsSound
        self.fcmProject = fcmProject
    }
}

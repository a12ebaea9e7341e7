/// One open stream: the request as it comes in, then the answer as it goes out. Belongs to its connection.
final class H2Stream {
    let id: Int32
    var method = ""
    var path = ""
    var authority: String?
    var headers: [(name: String, value: String)] = []
    var headerListBytes = 0
    var headersTooLarge = false
    var body: [UInt8] = []
    var bodyCount = 0
    /// The value of `apns-id`, kept only where the answer is fixed.
    var messageID: [UInt8] = []

    /// What is still to be sent of the answer's body.
    var answerBody: [UInt8] = []
    var answerSent = 0
    /// Set between the headers of an answer and the reset that shall follow them.
    var resetCode: UInt32?
    var isAnswered = false

    init(id: Int32) {
        self.id = id
    }
}

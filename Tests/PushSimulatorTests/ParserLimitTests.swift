import PushSimulator
import Testing

@Suite struct ParserLimitTests {
    @Test(arguments: ["1e999", "-1e309", String(repeating: "9", count: 400)])
    func aNumberThatIsTooLargeIsNoJSON(_ text: String) {
        #expect(OrderedJSON(Array(text.utf8)) == nil)
    }

    @Test func theMessageOfAFaultPlanIsShort() {
        let long = String(repeating: "tok", count: 2000)
        for plan in ["[\"\(long)\"]", "[{\"\(long)\":1}]", "[{\"provider\":\"\(long)\"}]"] {
            let error = #expect(throws: FaultPlanError.self) { try FaultPlan(json: Array(plan.utf8)) }
            #expect(error.map { $0.description.count <= 600 } == true)
        }
    }
}

/// A table that becomes a list of cards on a narrow screen, unless it is narrow itself. Its roles are written out, since a browser forgets them
/// when the style sheet changes how its parts are laid out.
struct Table {
    struct Column {
        enum Style: String {
            case plain = ""
            case number, nowrap
        }

        var label: String
        var style: Style = .plain
    }

    struct Row {
        /// For live values: the id of the row.
        var id: String?
        /// One for each column; the first names the row.
        var cells: [HTML]
    }

    /// What is in it, for those who do not see the heading above it.
    var caption: String
    var columns: [Column]
    var rows: [Row]
    /// Few columns, of numbers mostly: it stays a table.
    var isNarrow = false

    var html: HTML {
        """
        <table class="\(self.isNarrow ? "plain" : "cards")" role="table">
        <caption class="unseen">\(self.caption)</caption>
        <thead role="rowgroup"><tr role="row">\
        \(self.columns.map { #"<th scope="col" role="columnheader"\#(Self.style($0))>\#($0.label)</th>"# })\
        </tr></thead>
        <tbody role="rowgroup">
        \(self.rows.map(self.row))</tbody>
        </table>

        """
    }

    private func row(_ row: Row) -> HTML {
        let id: HTML = row.id.map { #" id="\#($0)""# } ?? .empty
        return "<tr role=\"row\"\(id)>\(self.cells(row.cells))</tr>\n"
    }

    /// What is inside a row.
    func cells(_ cells: [HTML]) -> HTML {
        zip(self.columns, cells).enumerated().map { index, pair -> HTML in
            let (column, cell) = pair
            if index == 0 { return #"<th scope="row" role="rowheader"\#(Self.style(column))>\#(cell)</th>"# }
            if cell.isEmpty { return #"<td role="cell" class="none \#(column.style.rawValue)">–</td>"# }
            return #"<td role="cell" data-label="\#(column.label)"\#(Self.style(column))>\#(cell)</td>"#
        }.joined()
    }

    private static func style(_ column: Column) -> HTML {
        column.style == .plain ? .empty : #" class="\#(column.style.rawValue)""#
    }
}

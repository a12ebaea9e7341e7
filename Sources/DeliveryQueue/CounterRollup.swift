package import Postgres

/// Sums up what flushes have counted, a row for each minute, name and labels, so that counters stay few however many
/// flushes there were.
package enum CounterRollup {
    /// At most so many rows at once; the next call takes the rest.
    private static let most = 50_000

    /// By the index on the rows that are no sums yet. Several workers may do it at once: each takes rows of its own, and
    /// two sums of one minute are as good as one.
    package static let query: PostgresQuery = """
        with single as materialized (
            select ctid from push.counters
            where not is_sum and minute < date_trunc('minute', now())
            order by minute
            limit \(unescaped: String(most))
            for update skip locked
        ), taken as (
            delete from push.counters where ctid = any (array(select ctid from single))
            returning minute, name, labels, value
        )
        insert into push.counters (minute, name, labels, value, is_sum)
        select minute, name, labels, sum(value), true from taken group by minute, name, labels
        """
}

-- An end holds: a worker whose lease ran out may write down a try that was to be repeated, after the delivery was
-- cancelled or discarded. It would look like one that runs, for ever. What was put back after its end is in push.waiting.

create or replace view push.deliveries as
select
    d.delivery_id as id,
    f.notification_id,
    f.account_id,
    d.device_id,
    coalesce(w.platform, a.platform) as platform,
    f.kind,
    case
        when w.delivery_id is not null and w.lease_token is not null and w.scheduled_at > now() then 'running'
        when w.delivery_id is not null then 'available'
        when a.state in ('accepted', 'discarded', 'cancelled') then a.state
        -- Given back or rescued.
        when exists (select from push.outbox o where o.notification_id = f.notification_id) then 'available'
        else 'running'
    end as state,
    coalesce(w.reason, a.reason) as reason,
    coalesce(w.attempts, a.number, 0) as attempt,
    w.scheduled_at,
    case when w.delivery_id is null and a.state in ('accepted', 'discarded', 'cancelled') then a.finished_at end
        as finished_at
from push.fanouts f
cross join lateral unnest(f.delivery_ids, f.device_ids) as d (delivery_id, device_id)
left join push.waiting w on w.delivery_id = d.delivery_id
left join lateral (
    select * from push.attempts t
    where t.delivery_id = d.delivery_id
    order by
        (t.state = 'accepted') desc, (t.state in ('accepted', 'discarded', 'cancelled')) desc, t.finished_at desc,
        t.number desc
    limit 1
) a on true;

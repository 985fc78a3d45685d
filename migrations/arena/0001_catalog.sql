-- The catalog: what there is to do, and when. Every replica binds it to timers of its own.
create table schedules (
    name      text primary key,
    -- Cron expression with seconds.
    cron      text not null,
    -- IANA name; fire times are reckoned in it.
    time_zone text not null default 'UTC',
    -- What the work is, in a few words.
    handler   text not null,
    -- The order in which pages show it.
    position  integer not null unique
);

-- Each fires every five seconds, staggered so that a picture of them can be read.
insert into schedules (name, cron, handler, position) values
    ('settle-invoices', '*/5 * * * * *', 'settles the invoices that are due', 1),
    ('dispatch-orders', '1/5 * * * * *', 'hands paid orders to the carrier', 2),
    ('send-digests', '3/5 * * * * *', 'mails each customer one digest', 3);

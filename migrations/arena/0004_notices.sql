-- Every change of a row that somebody may want to see is told on channel `aegis_rows`, when it commits:
-- {"table": ..., "key": ..., "op": "insert" | "update" | "delete", "row": {...} | null}.
-- A payload has to stay under 8000 bytes; a longer row is told without its values, and read by who needs it.
create function tell_row() returns trigger
language plpgsql as $$
declare
    old_row jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
    new_row jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
    key     text  := coalesce(new_row, old_row) ->> tg_argv[0];
    notice  jsonb := jsonb_build_object('table', tg_table_name, 'key', key, 'op', lower(tg_op), 'row', new_row);
begin
    if octet_length(notice::text) >= 8000 then
        notice := jsonb_build_object('table', tg_table_name, 'key', left(key, 1000), 'op', lower(tg_op),
                                     'row', null, 'too_long', true);
    end if;
    perform pg_notify('aegis_rows', notice::text);
    return null;
end
$$;

create trigger tell after insert or update or delete on schedules
    for each row execute function tell_row('name');
create trigger tell after insert or update or delete on locks
    for each row execute function tell_row('name');
create trigger tell after insert or update or delete on lock_epochs
    for each row execute function tell_row('name');
create trigger tell after insert or update or delete on audit
    for each row execute function tell_row('id');
create trigger tell after insert or update or delete on ledger
    for each row execute function tell_row('id');

SELECT :SERVER_VERSION_NUM < 130000 AS old \gset
\if :old
SELECT json_build_object('version', :SERVER_VERSION_NUM);
\else
SELECT json_build_object(
  'version', :SERVER_VERSION_NUM,
  'now', extract(epoch FROM clock_timestamp()),
  'recovery', pg_is_in_recovery(),
  'system', (SELECT system_identifier::text FROM pg_control_system()),
  'timeline', CASE WHEN pg_is_in_recovery() THEN coalesce((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint()))
              ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END,
  'read_only', current_setting('default_transaction_read_only')::bool,
  'synchronous_standby_names', current_setting('synchronous_standby_names'),
  'synchronous_commit', current_setting('synchronous_commit'),
  'receiver_timeout', (SELECT setting::int / 1000.0 FROM pg_settings WHERE name = 'wal_receiver_timeout'),
  'paused', CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END,
  'flushed', CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_flush_lsn() END,
  'replayed', CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END,
  'last_commit', extract(epoch FROM pg_last_xact_replay_timestamp()),
  'receiver', (SELECT json_build_object('status', r.status, 'flushed', r.flushed_lsn, 'primary_end', r.latest_end_lsn,
      'heard', extract(epoch FROM r.last_msg_receipt_time), 'since', extract(epoch FROM a.backend_start))
    FROM pg_stat_wal_receiver r LEFT JOIN pg_stat_activity a USING (pid)),
  'senders', (SELECT json_agg(json_build_object('name', application_name, 'state', state, 'sync', sync_state,
      'flushed', flush_lsn, 'replayed', replay_lsn,
      'flush_lag', extract(epoch FROM flush_lag), 'replay_lag', extract(epoch FROM replay_lag)))
    FROM pg_stat_replication),
  'waits', (SELECT max(extract(epoch FROM clock_timestamp() - query_start)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'));
SELECT 'contact ' || extract(epoch FROM last_msg_receipt_time) || ' ' || greatest(0, latest_end_lsn - flushed_lsn)
FROM pg_stat_wal_receiver WHERE status = 'streaming' AND last_msg_receipt_time IS NOT NULL;
\endif

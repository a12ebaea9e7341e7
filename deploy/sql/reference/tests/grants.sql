-- What an app's own role is given; run after the reference schema.
grant select, insert, update, delete on accounts, devices, notifications to reference_app;
grant execute on all functions in schema public to reference_app;

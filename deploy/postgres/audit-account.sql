-- Gives the audit log to an account of its own, so that the account of claudikins can add lines and read them, and nothing else. It cannot
-- switch the triggers off, and it cannot drop the table. docs/policy.md says how to use it. Run it as an administrator, after the first start:
--   psql --set=account=claudikins --file=audit-account.sql "$DATABASE"
\set ON_ERROR_STOP on
\if :{?account}
\else
  \set account claudikins
\endif
BEGIN;
SELECT 'CREATE ROLE claudikins_audit NOLOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'claudikins_audit') \gexec

-- The owner of a schema can drop every table in it.
ALTER SCHEMA claudikins OWNER TO claudikins_audit;
GRANT USAGE, CREATE ON SCHEMA claudikins TO :"account";

ALTER TABLE claudikins.audit OWNER TO claudikins_audit;
ALTER TABLE claudikins.audit_end OWNER TO claudikins_audit;
ALTER FUNCTION claudikins.refuse() OWNER TO claudikins_audit;
REVOKE ALL ON claudikins.audit, claudikins.audit_end FROM :"account";
GRANT SELECT, INSERT ON claudikins.audit TO :"account";
GRANT SELECT, UPDATE ON claudikins.audit_end TO :"account";

-- What `claudikins audit` reads beside the log.
GRANT SELECT ON claudikins.schema_version TO claudikins_audit;
COMMIT;

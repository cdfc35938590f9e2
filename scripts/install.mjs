// Installs the packages if they are missing or outdated, and checks the version of Node. Runs before the other npm
// scripts, also on Node 20 and without any package, so it is plain JavaScript.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lockFile = path.join(root, 'package-lock.json');
const installed = path.join(root, 'node_modules/.package-lock.json');
const stamp = path.join(root, 'node_modules/.basalt-lock');
/** Not in `node_modules`, because `npm ci` deletes that folder first. */
const lock = path.join(root, '.installing');
const neededNode = 24;

const fingerprint = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

/** Compares ages first, then contents, because checking out a branch makes files newer without changing them. */
const isInstalled = () => {
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs) return true;
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();
};

const fail = (message) => {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
};

/** The npm that runs this script, or else the one on the PATH. */
const npmCommand = () => {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
};

const noRegistry =
  /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT|E40[134]|SELF_SIGNED|UNABLE_TO_/;

const explain = (output) => {
  const advice = noRegistry.test(output)
    ? 'The package registry could not be reached, or it rejected the request. Check the connection. For a registry of your\n' +
      'own, run: npm config set registry <address>. Then run the same command again.'
    : 'Run the same command again. If it fails again, run: npm ci --loglevel=verbose';
  const lines = output.split('\n').filter((line) => line.replace('npm error', '').trim() !== '');
  return `The packages could not be installed.\n${lines.slice(0, 10).join('\n')}\n\n${advice}`;
};

const install = () =>
  new Promise((resolve) => {
    const begin = Date.now();
    const seconds = () => Math.round((Date.now() - begin) / 1000);
    process.stdout.write('Installing packages (only the first time; about a minute) …\n');
    const ticker = setInterval(() => process.stdout.write(`  still installing, ${seconds()} s\n`), 15_000);
    const [command, ...args] = [...npmCommand(), 'ci', '--loglevel=error', '--no-audit', '--no-fund'];
    const npm = spawn(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    npm.stderr.on('data', (chunk) => {
      output += chunk;
    });
    npm.on('error', (error) => fail(explain(error.message)));
    npm.on('close', (code, signal) => {
      clearInterval(ticker);
      if (signal) process.exit(1);
      if (code !== 0) fail(explain(output));
      writeFileSync(stamp, fingerprint());
      process.stdout.write(`Installed in ${seconds()} s\n`);
      resolve();
    });
  });

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** True if this process got the lock. */
const acquireLock = () => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    process.once('exit', () => rmSync(lock, { force: true }));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return false;
};

const isAbandoned = () => {
  try {
    const holder = Number(readFileSync(lock, 'utf8'));
    // The file is empty for a moment after its creation.
    return holder > 0 ? !isAlive(holder) : Date.now() - statSync(lock).mtimeMs > 5000;
  } catch {
    return false;
  }
};

/** Two installations at the same time would delete each other's packages, so the second one waits for the first. */
const installOnce = async () => {
  let waits = false;
  while (!isInstalled() || existsSync(lock)) {
    if (isAbandoned()) rmSync(lock, { force: true });
    if (acquireLock()) {
      if (!isInstalled()) await install();
      return;
    }
    if (!waits)
      process.stdout.write(`Waiting for another command that is installing the packages (${path.basename(lock)}) …\n`);
    waits = true;
    await pause(500);
  }
};

/** npm puts `node_modules/.bin` first on the PATH; for Linux, a package there contains Node 24. */
const checkNode = () => {
  const { stdout } = spawnSync('node', ['--version'], { cwd: root, encoding: 'utf8' });
  const version = (stdout ?? '').trim();
  if (Number.parseInt(version.slice(1), 10) >= neededNode) return;
  fail(
    `Basalt needs Node ${neededNode} or later, but found ${version || 'none'}.\n` +
      'On Linux, the packages include Node. On other systems, install it from https://nodejs.org and run the command again.',
  );
};

await installOnce();
checkNode();

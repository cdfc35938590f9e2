// Installs the packages where they are missing or not those of the lock file, and sees that Node is recent enough. Runs
// before the other npm scripts, on Node 20 too, so it is plain JavaScript without packages.
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
/** Beside `node_modules`, which an installation begins by removing. */
const lock = path.join(root, '.installing');
const neededNode = 24;

const fingerprint = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

/** By age first, by content where only the age differs: checking out a branch makes files new without changing them. */
const isInstalled = () => {
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs) return true;
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();
};

const fail = (message) => {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
};

/** npm itself where a script of npm runs this; otherwise the one on the PATH. */
const npmCommand = () => {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
};

const noRegistry =
  /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT|E40[134]|SELF_SIGNED|UNABLE_TO_/;

const explain = (output) => {
  const advice = noRegistry.test(output)
    ? 'The package registry could not be reached or refused the request. Check the connection; behind a proxy or with a\n' +
      'registry of your own, tell npm: npm config set registry <address>. Then run the same command again.'
    : 'Run the same command again. If it fails again: npm ci --loglevel=verbose';
  const said = output.split('\n').filter((line) => line.replace('npm error', '').trim() !== '');
  return `The packages could not be installed.\n${said.slice(0, 10).join('\n')}\n\n${advice}`;
};

const install = () =>
  new Promise((resolve) => {
    const begin = Date.now();
    const seconds = () => Math.round((Date.now() - begin) / 1000);
    process.stdout.write('Installing packages (once; about a minute) …\n');
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

/** Whether this process is to install; false while another one does. One that was killed does not count. */
const claim = () => {
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
    // The file is empty for a moment after it was made.
    return holder > 0 ? !isAlive(holder) : Date.now() - statSync(lock).mtimeMs > 5000;
  } catch {
    return false;
  }
};

/** Two that install at once remove each other's packages, so whoever is second waits for the first. */
const installOnce = async () => {
  let waits = false;
  while (!isInstalled() || existsSync(lock)) {
    if (isAbandoned()) rmSync(lock, { force: true });
    if (claim()) {
      if (!isInstalled()) await install();
      return;
    }
    if (!waits)
      process.stdout.write(`Another command is installing the packages; waiting for it (${path.basename(lock)}) …\n`);
    waits = true;
    await pause(500);
  }
};

/** npm puts `node_modules/.bin` first on the PATH, where the packages bring Node for Linux. */
const checkNode = () => {
  const { stdout } = spawnSync('node', ['--version'], { cwd: root, encoding: 'utf8' });
  const version = (stdout ?? '').trim();
  if (Number.parseInt(version.slice(1), 10) >= neededNode) return;
  fail(
    `Basalt needs Node ${neededNode} or later; this is ${version || 'none'}.\n` +
      'On Linux the npm scripts bring their own. Elsewhere install it from https://nodejs.org and run the command again.',
  );
};

await installOnce();
checkNode();

import path from 'node:path';
import { styleText } from 'node:util';
import { type Demo, type ProjectKeys, provideDemo } from './demo.ts';
import { loadDevFile, writeDevFile } from './dev-file.ts';
import { writeEnvironment } from './environment-file.ts';
import { requireNode } from './node-version.ts';
import { watchNpm } from './npm-parent.ts';
import { permitAddresses } from './permit-addresses.ts';
import { StartProblem, textOf } from './problem.ts';
import { type LocalSettings, parseSettings } from './settings.ts';
import { type Stack, startStack } from './stack.ts';
import { welcome } from './welcome.ts';

const report = (step: string): void => {
  const seconds = `${(performance.now() / 1000).toFixed(1)} s`;
  process.stdout.write(`  ${styleText('dim', seconds.padStart(6))}  ${step}\n`);
};

const fail = (message: string): never => {
  process.stderr.write(`\n${styleText('red', message, { stream: process.stderr })}\n`);
  process.exit(1);
};

const options = ['--bundled', '--example'];

const requireOptions = (args: readonly string[]): void => {
  const unknown = args.find((argument) => !options.includes(argument));
  if (unknown === undefined) return;
  const known = options.map((option) => `npm start -- ${option}`).join(' and ');
  throw new StartProblem(`${unknown} is not an option. There are two: ${known}`);
};

/** Builds bundles beside the data, where no other stack that runs has its own. */
const bundleInto = async (directory: string): Promise<string> => {
  const { bundleFunctions } = await import('../build/bundle.ts');
  const folder = path.resolve(directory, 'functions');
  const functions = await bundleFunctions(folder);
  report(`Bundled ${functions.length} functions`);
  return folder;
};

/** Ctrl-C, SIGTERM and the end of npm let running requests finish and keep the data; a second one ends at once. */
const stopOnSignal = (running: { stack?: Stack }): void => {
  let asked = false;
  const stop = (): void => {
    if (asked || !running.stack) process.exit(asked ? 1 : 0);
    asked = true;
    process.stdout.write('\nStopping …\n');
    running.stack.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(textOf(error)),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  watchNpm(() => {
    if (!asked) stop();
  });
  // The terminal may be gone before this process is.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
};

/** The example app where it is asked for; its project stays known where it is not. */
const exampleFor = async (
  args: readonly string[],
  { port }: LocalSettings,
  api: string,
  demo: Demo,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly example?: ProjectKeys; readonly exampleUrl?: string }> => {
  if (!args.includes('--example')) return earlier ? { example: earlier } : {};
  const { startExample } = await import('./example/start-example.ts');
  const { keys, url } = await startExample(port, api, demo, earlier);
  return { example: keys, exampleUrl: url };
};

const showDemo = async (
  { baseUrl, dashboardUrl, inboxUrl, webhookUrl, webhookSecret, filesUrl, offerSignIn, env }: Stack,
  settings: LocalSettings,
  args: readonly string[],
): Promise<void> => {
  const directory = path.resolve(settings.directory);
  const earlier = await loadDevFile(directory);
  const demo = await provideDemo(earlier, env.OPENID_ISSUER_URL ?? '');
  const dev = {
    baseUrl,
    dashboardUrl,
    inboxUrl,
    webhookUrl,
    webhookSecret,
    filesUrl,
    ...demo,
    ...(await exampleFor(args, settings, baseUrl, demo, earlier?.example)),
  };
  await writeDevFile(directory, dev);
  process.stdout.write(welcome(dev, settings, settings.directory, offerSignIn(dev.developer)));
};

const start = async (): Promise<void> => {
  const running: { stack?: Stack } = {};
  stopOnSignal(running);
  const settings = parseSettings(process.env);
  permitAddresses(settings.functions.PERMITTED_ADDRESSES);
  const args = process.argv.slice(2);
  requireOptions(args);
  const stack = await startStack({
    ...settings,
    ...(args.includes('--bundled') && { bundles: () => bundleInto(settings.directory) }),
    report,
    onFailure: (detail) => fail(`A part of the local service ended, so everything was stopped.\n${detail}`),
  });
  running.stack = stack;
  await writeEnvironment(path.resolve(settings.directory), stack.env);
  try {
    await showDemo(stack, settings, args);
  } catch (error) {
    await stack.stop();
    throw error;
  }
};

requireNode();
start().catch((error: unknown) => fail(textOf(error)));

import path from 'node:path';
import { styleText } from 'node:util';
import { readArguments } from '../../scripts/read-arguments.ts';
import { type Demo, type ProjectKeys, provideDemo } from './demo.ts';
import { permitAddresses } from './permit-addresses.ts';
import { textOf } from './problem.ts';
import { onStopRequest, requireNode } from './processes.ts';
import { type LocalSettings, parseSettings } from './settings.ts';
import { type Stack, startStack } from './stack.ts';
import { type DevFile, loadDevFile, writeDevFile, writeEnvironment } from './state-files.ts';

const quote = (text: string): string => `'${text}'`;

const curl = (url: string, key: string, body?: unknown): string =>
  [
    `  curl ${quote(url)}`,
    `-H ${quote(`x-api-key: ${key}`)}`,
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
  ].join(' ');

/** Commands to paste: insert, list, filter, and insert into a collection without a schema. */
const examples = ({ baseUrl, publishableKey, secretKey }: DevFile): readonly string[] => {
  const posts = `${baseUrl}/api/data/posts`;
  return [
    curl(posts, secretKey, { title: 'Hello', views: 10, tags: ['first'], meta: { source: 'curl' } }),
    curl(`${posts}?limit=5`, publishableKey),
    curl(`${posts}?views_gte=5&tags=first&sort=-views`, publishableKey),
    curl(`${baseUrl}/api/data/notes`, secretKey, { anything: { goes: true } }),
  ];
};

const line = (name: string, value: string): string => `  ${styleText('dim', name.padEnd(16))} ${value}`;

const rateLimitText = ({ functions: { RATE_LIMIT = '0' } }: LocalSettings): string =>
  RATE_LIMIT === '0' ? 'off' : `${RATE_LIMIT} requests per 15 minutes (100 in a deployment)`;

/** The text that a start prints when everything runs. Scripts wait for its last line. */
const welcome = (dev: DevFile, settings: LocalSettings, directory: string, consoleUrl: string): string =>
  [
    '',
    line('public API', dev.baseUrl),
    line('dashboard API', dev.dashboardUrl),
    line('public files', dev.filesUrl),
    line('sent emails', dev.inboxUrl),
    line('email webhook', dev.webhookUrl),
    line('rate limit', rateLimitText(settings)),
    '',
    line('demo developer', `${dev.developer.email}  ${dev.developer.password}`),
    line('demo project', dev.projectId),
    line('publishable key', dev.publishableKey),
    line('secret key', dev.secretKey),
    line(
      'all values',
      `${directory}/dev.json, also with a dashboard token for 12 h; for shells: . ${directory}/env.sh`,
    ),
    '',
    '  Try it: insert, list and filter documents, then insert one without a schema',
    ...examples(dev),
    '',
    line('console', styleText('bold', consoleUrl)),
    line('', 'signs you in; works one time, within 10 minutes'),
    line('', 'for passkeys, open it with localhost instead of 127.0.0.1'),
    '',
    ...(dev.exampleUrl === undefined
      ? []
      : [line('example app', styleText('bold', dev.exampleUrl)), line('', 'examples/board, with its own project'), '']),
    `ready ${dev.baseUrl}`,
    '',
  ].join('\n');

const report = (step: string): void => {
  const seconds = `${(performance.now() / 1000).toFixed(1)} s`;
  process.stdout.write(`  ${styleText('dim', seconds.padStart(6))}  ${step}\n`);
};

const fail = (message: string): never => {
  process.stderr.write(`\n${styleText('red', message, { stream: process.stderr })}\n`);
  process.exit(1);
};

const usage = `Usage: npm start -- [--bundled] [--example]
Runs the complete service on this machine, with a demo project, until you press Ctrl-C. The data stay in .basalt.
  --bundled  builds the functions and runs each in processes of its own, like a deployment
  --example  also serves an example app, examples/board
Settings come from environment variables, such as PORT=4100 and BASALT_DIR=.basalt-2: docs/reference/commands.md`;

interface Options {
  readonly bundled: boolean;
  readonly example: boolean;
}

/** Builds the bundles next to the data, so that several local services do not share them. */
const bundleInto = async (directory: string): Promise<string> => {
  const { bundleFunctions } = await import('../build/bundle.ts');
  const folder = path.resolve(directory, 'functions');
  const functions = await bundleFunctions(folder);
  report(`Bundled ${functions.length} functions`);
  return folder;
};

const stop = ({ stack }: { readonly stack?: Stack }): void => {
  if (!stack) process.exit(0);
  process.stdout.write('\nStopping (the data are kept) …\n');
  stack.stop().then(
    () => process.exit(0),
    (error: unknown) => fail(textOf(error)),
  );
};

/** Starts the example app if it is wanted; otherwise keeps the keys of its project. */
const exampleFor = async (
  options: Options,
  { port }: LocalSettings,
  api: string,
  demo: Demo,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly example?: ProjectKeys; readonly exampleUrl?: string }> => {
  if (!options.example) return earlier ? { example: earlier } : {};
  const { startExample } = await import('./example.ts');
  const { keys, url } = await startExample(port, api, demo, earlier);
  return { example: keys, exampleUrl: url };
};

const showDemo = async (
  { baseUrl, dashboardUrl, inboxUrl, webhookUrl, webhookSecret, filesUrl, offerSignIn, env }: Stack,
  settings: LocalSettings,
  options: Options,
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
    ...(await exampleFor(options, settings, baseUrl, demo, earlier?.example)),
  };
  await writeDevFile(directory, dev);
  process.stdout.write(welcome(dev, settings, settings.directory, offerSignIn(dev.developer)));
};

const start = async (options: Options): Promise<void> => {
  const running: { stack?: Stack } = {};
  onStopRequest(() => stop(running));
  const settings = parseSettings(process.env);
  permitAddresses(settings.functions.PERMITTED_ADDRESSES);
  const stack = await startStack({
    ...settings,
    ...(options.bundled && { bundles: () => bundleInto(settings.directory) }),
    report,
    onFailure: (detail) => fail(`The local service was stopped, because a part of it ended.\n${detail}`),
  });
  running.stack = stack;
  await writeEnvironment(path.resolve(settings.directory), stack.env);
  try {
    await showDemo(stack, settings, options);
  } catch (error) {
    await stack.stop();
    throw error;
  }
};

requireNode();
const { values } = readArguments(usage, {
  options: { bundled: { type: 'boolean', default: false }, example: { type: 'boolean', default: false } },
});
start(values).catch((error: unknown) => fail(textOf(error)));

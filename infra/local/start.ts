import path from 'node:path';
import { styleText } from 'node:util';
import { readArguments } from '../../scripts/read-arguments.ts';
import { type Demo, type ProjectKeys, provideDemo } from './demo.ts';
import { loadDevFile, writeDevFile } from './dev-file.ts';
import { writeEnvironment } from './environment-file.ts';
import { requireNode } from './node-version.ts';
import { stopWhenAsked } from './npm-parent.ts';
import { permitAddresses } from './permit-addresses.ts';
import { textOf } from './problem.ts';
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

const usage = `Usage: npm start -- [--bundled] [--example]
Runs the whole service on this machine, until it is stopped by Ctrl-C. PORT, BASALT_DIR and other settings come from the
environment: docs/commands.md.
  --bundled  runs built bundles, each function in processes of its own, as it is deployed
  --example  serves an example app besides, with a project of its own`;

interface Asked {
  readonly bundled: boolean;
  readonly example: boolean;
}

/** Builds bundles beside the data, where no other stack that runs has its own. */
const bundleInto = async (directory: string): Promise<string> => {
  const { bundleFunctions } = await import('../build/bundle.ts');
  const folder = path.resolve(directory, 'functions');
  const functions = await bundleFunctions(folder);
  report(`Bundled ${functions.length} functions`);
  return folder;
};

/** Lets running requests finish and keeps the data. */
const stop = ({ stack }: { readonly stack?: Stack }): void => {
  if (!stack) process.exit(0);
  process.stdout.write('\nStopping …\n');
  stack.stop().then(
    () => process.exit(0),
    (error: unknown) => fail(textOf(error)),
  );
};

/** The example app where it is asked for; its project stays known where it is not. */
const exampleFor = async (
  asked: Asked,
  { port }: LocalSettings,
  api: string,
  demo: Demo,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly example?: ProjectKeys; readonly exampleUrl?: string }> => {
  if (!asked.example) return earlier ? { example: earlier } : {};
  const { startExample } = await import('./example/start-example.ts');
  const { keys, url } = await startExample(port, api, demo, earlier);
  return { example: keys, exampleUrl: url };
};

const showDemo = async (
  { baseUrl, dashboardUrl, inboxUrl, webhookUrl, webhookSecret, filesUrl, offerSignIn, env }: Stack,
  settings: LocalSettings,
  asked: Asked,
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
    ...(await exampleFor(asked, settings, baseUrl, demo, earlier?.example)),
  };
  await writeDevFile(directory, dev);
  process.stdout.write(welcome(dev, settings, settings.directory, offerSignIn(dev.developer)));
};

const start = async (asked: Asked): Promise<void> => {
  const running: { stack?: Stack } = {};
  stopWhenAsked(() => stop(running));
  const settings = parseSettings(process.env);
  permitAddresses(settings.functions.PERMITTED_ADDRESSES);
  const stack = await startStack({
    ...settings,
    ...(asked.bundled && { bundles: () => bundleInto(settings.directory) }),
    report,
    onFailure: (detail) => fail(`A part of the local service ended, so everything was stopped.\n${detail}`),
  });
  running.stack = stack;
  await writeEnvironment(path.resolve(settings.directory), stack.env);
  try {
    await showDemo(stack, settings, asked);
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

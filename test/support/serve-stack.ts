import path from 'node:path';
import { bundleFunctions } from '../../infra/bundle.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { startStack } from '../../infra/local/stack.ts';

// Runs the local stack for tests, on free ports, with its data in the directory given. Prints where it is
// as one JSON line; ends with its standard input. `BUNDLED=1` serves bundles.
const [, , directory = ''] = process.argv;

const bundlesIn = async (folder: string): Promise<{ readonly bundles: string }> => {
  await bundleFunctions(folder);
  return { bundles: folder };
};

const settings = readSettings(process.env);
const stack = await startStack({
  ...settings,
  directory,
  port: 0,
  ...(process.env.BUNDLED === '1' ? await bundlesIn(path.join(directory, 'functions')) : {}),
  report: () => undefined,
  onFailure: (detail) => {
    process.stderr.write(`${detail}\n`);
    process.exit(1);
  },
});

const end = (): void => {
  stack.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.stdin.on('end', end).on('error', end).resume();
process.on('SIGTERM', end);
const { baseUrl, dashboardUrl, mongoUri, dynamoUrl, env } = stack;
process.stdout.write(`${JSON.stringify({ baseUrl, dashboardUrl, mongoUri, dynamoUrl, env })}\n`);

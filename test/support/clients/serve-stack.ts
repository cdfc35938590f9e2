import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { parseSettings } from '../../../infra/local/settings.ts';
import { startStack } from '../../../infra/local/stack.ts';

// Runs the local service for tests on free ports, with its data in the given directory. Prints its addresses as one
// JSON line. Ends with its standard input. `BUNDLES` is a folder of bundles to use; `PERMITTED_ADDRESSES` are loopback
// addresses for customers' databases and storages.
const [, , directory = ''] = process.argv;

const { PERMITTED_ADDRESSES = '', BUNDLES } = process.env;
permitAddresses(PERMITTED_ADDRESSES);
const settings = parseSettings(process.env);
const stack = await startStack({
  ...settings,
  functions: { ...settings.functions, PERMITTED_ADDRESSES },
  directory,
  port: 0,
  ...(BUNDLES && { bundles: async () => BUNDLES }),
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
const { baseUrl, dashboardUrl, webhookUrl, mongoUri, dynamoUrl, env } = stack;
process.stdout.write(`${JSON.stringify({ baseUrl, dashboardUrl, webhookUrl, mongoUri, dynamoUrl, env })}\n`);

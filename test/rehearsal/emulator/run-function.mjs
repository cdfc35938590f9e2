// Runs one function once: `run-function.mjs <folder> <file.handler>`, with the event on standard input. The last line
// that it writes says how that ended. What a custom resource sends to CloudFormation counts as its answer.
import { existsSync } from 'node:fs';
import https from 'node:https';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const [, , folder, handler] = process.argv;
const [file, name] = handler.split('.');

let sent;
https.request = (_options, answered) => ({
  on: () => undefined,
  write: (body) => {
    sent = JSON.parse(body);
  },
  end: () => answered({ statusCode: 200, resume: () => undefined }),
});

const load = async () => {
  const module = path.join(folder, `${file}.mjs`);
  if (existsSync(module)) return import(pathToFileURL(module).href);
  return createRequire(import.meta.url)(path.join(folder, `${file}.js`));
};

const end = (failed, value) => {
  process.stdout.write(`\n${JSON.stringify({ ended: { failed, value } })}\n`, () => process.exit(0));
};

try {
  const event = JSON.parse(await text(process.stdin));
  const context = { functionName: process.env.AWS_LAMBDA_FUNCTION_NAME, getRemainingTimeInMillis: () => 30_000 };
  const value = await (await load())[name](event, context);
  end(false, sent ?? value ?? null);
} catch (error) {
  end(true, { errorType: error?.name ?? 'Error', errorMessage: error?.message ?? String(error) });
}

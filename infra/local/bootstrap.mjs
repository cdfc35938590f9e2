// Runs one bundled function with the Lambda Runtime API, like AWS's own runtime. Ends when its standard input closes.
import http from 'node:http';
import { enableCompileCache, flushCompileCache } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const { AWS_LAMBDA_RUNTIME_API, AWS_LAMBDA_FUNCTION_NAME, LAMBDA_TASK_ROOT, _HANDLER } = process.env;
// Each function has a process of its own. They share what Node has compiled.
enableCompileCache(path.join(LAMBDA_TASK_ROOT, '../.compiled'));
const { blockExternalFetch, permitAddresses } = await import('./permit-addresses.ts');
flushCompileCache();
const [host, port] = AWS_LAMBDA_RUNTIME_API.split(':');
blockExternalFetch(process.env.AI_BASE_URL);
// Set by tests and `npm start` for databases and webhook receivers on this machine.
permitAddresses(process.env.PERMITTED_ADDRESSES);
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

process.stdin
  .on('end', () => process.exit(0))
  .on('error', () => process.exit(0))
  .resume();

const call = (method, resource, body) =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = http.request(
      { host, port, method, path: `/2018-06-01/runtime/${resource}`, agent, headers },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks).toString() }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });

const describe = (error) =>
  JSON.stringify({
    errorType: error?.name ?? 'Error',
    errorMessage: error?.message ?? String(error),
    stackTrace: (error?.stack ?? '').split('\n'),
  });

const load = async () => {
  const [file, name] = _HANDLER.split('.');
  const module = await import(pathToFileURL(path.join(LAMBDA_TASK_ROOT, `${file}.mjs`)).href);
  if (typeof module[name] !== 'function') throw new Error(`${_HANDLER} is not a function`);
  return module[name];
};

const contextOf = (headers) => ({
  awsRequestId: headers['lambda-runtime-aws-request-id'],
  callbackWaitsForEmptyEventLoop: true,
  functionName: AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: '$LATEST',
  invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
  memoryLimitInMB: '512',
  logGroupName: 'local',
  logStreamName: 'local',
  getRemainingTimeInMillis: () => Number(headers['lambda-runtime-deadline-ms']) - Date.now(),
});

let handler;
try {
  handler = await load();
} catch (error) {
  await call('POST', 'init/error', describe(error));
  process.exit(1);
}
for (;;) {
  const { headers, body } = await call('GET', 'invocation/next');
  const invocation = `invocation/${headers['lambda-runtime-aws-request-id']}`;
  let outcome;
  try {
    outcome = ['response', JSON.stringify((await handler(JSON.parse(body), contextOf(headers))) ?? null)];
  } catch (error) {
    outcome = ['error', describe(error)];
  }
  await call('POST', `${invocation}/${outcome[0]}`, outcome[1]);
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text as bodyText } from 'node:stream/consumers';
import { startChild } from './child.ts';
import { functionTimeoutMs } from './lambda-context.ts';
import { listen } from './ports.ts';

const bootstrap = path.join(import.meta.dirname, 'bootstrap.mjs');

/** One event on its way through a function. */
export interface Invocation {
  readonly id: string;
  readonly event: string;
  /** With the function's result, as JSON. */
  readonly resolve: (result: string) => void;
  readonly reject: (error: Error) => void;
}

/** What a process asks of the pool it belongs to. */
interface Owner {
  /** The next invocation for this process, which is free. */
  readonly next: (process: FunctionProcess) => Promise<Invocation>;
  /** The process is gone; `beforeFirst`: it never got as far as asking for an invocation. */
  readonly ended: (process: FunctionProcess, beforeFirst: boolean, detail: string) => void;
}

export interface FunctionProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

interface Failure {
  readonly errorType?: string;
  readonly errorMessage?: string;
  readonly stackTrace?: readonly string[];
}

const toError = (text: string): Error => {
  const { errorType = 'Error', errorMessage = '', stackTrace = [] } = JSON.parse(text) as Failure;
  return Object.assign(new Error(`${errorType}: ${errorMessage}`), { stack: stackTrace.join('\n') });
};

/** The environment of a deployed function: what Lambda sets, and the settings; nothing else of this process. */
const environmentOf = (name: string, folder: string, port: number, settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  ...settings,
  AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  LAMBDA_TASK_ROOT: folder,
  _HANDLER: 'index.handler',
});

/**
 * Starts a process for the bundle in `folder`, with a Lambda Runtime API of its own that hands it one invocation at a
 * time. A function that runs out of time is killed with its process, as on Lambda.
 */
export const startFunctionProcess = async (
  name: string,
  folder: string,
  settings: NodeJS.ProcessEnv,
  owner: Owner,
): Promise<FunctionProcess> => {
  let current: Invocation | undefined;
  let asked = false;
  let initFailure: string | undefined;
  let limit: NodeJS.Timeout | undefined;

  const handOver = async (response: ServerResponse): Promise<void> => {
    asked = true;
    const invocation = await owner.next(self);
    current = invocation;
    limit = setTimeout(() => {
      settle(invocation.id)?.reject(new Error(`${name} timed out after ${functionTimeoutMs} ms`));
      void self.stop();
    }, functionTimeoutMs);
    response.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': invocation.id,
      'lambda-runtime-deadline-ms': String(Date.now() + functionTimeoutMs),
      'lambda-runtime-invoked-function-arn': name,
    });
    response.end(invocation.event);
  };

  const settle = (id: string): Invocation | undefined => {
    clearTimeout(limit);
    const done = current?.id === id ? current : undefined;
    if (done) current = undefined;
    return done;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const resource = (request.url ?? '').replace('/2018-06-01/runtime/', '');
    if (resource === 'invocation/next') return handOver(response);
    const text = await bodyText(request);
    const [, id = '', outcome] = resource.split('/');
    if (resource === 'init/error') initFailure = text;
    else if (outcome === 'response') settle(id)?.resolve(text);
    else if (outcome === 'error') settle(id)?.reject(toError(text));
    response.writeHead(202).end('{}');
  };

  const server: Server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, 0);
  const ended = (detail: string): void => {
    server.closeAllConnections();
    server.close();
    if (current) settle(current.id)?.reject(new Error(detail));
    owner.ended(self, !asked, initFailure ? toError(initFailure).message : detail);
  };
  const child = startChild({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', bootstrap],
    env: environmentOf(name, folder, port, settings),
    onLine: (line) => process.stdout.write(`${line}\n`),
    onExit: ended,
  });
  const self: FunctionProcess = {
    pid: child.pid,
    stop: async () => {
      await child.stop();
      ended(`${name} was stopped`);
    },
  };
  return self;
};

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text as bodyText } from 'node:stream/consumers';
import { startChild } from './child.ts';
import { functionTimeoutMs } from './in-process.ts';
import { listen } from './ports.ts';

const bootstrap = path.join(import.meta.dirname, 'bootstrap.mjs');

export interface Invocation {
  readonly id: string;
  readonly event: string;
  /** Receives the function's result as JSON. */
  readonly resolve: (result: string) => void;
  readonly reject: (error: Error) => void;
}

/** The pool that a process belongs to. */
interface Owner {
  /** The process is idle and waits for an invocation. */
  readonly next: (process: FunctionProcess) => Promise<Invocation>;
  /** The process has ended; `beforeFirst`: before it asked for its first invocation. */
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

/** The environment of a deployed function: the settings and the variables that Lambda sets. */
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
 * Starts a process for the bundle in `folder`, with a Lambda Runtime API of its own, which passes it one invocation at a
 * time. If a function exceeds its time limit, its process is killed, as on Lambda.
 */
export const startFunctionProcess = async (
  name: string,
  folder: string,
  settings: NodeJS.ProcessEnv,
  owner: Owner,
): Promise<FunctionProcess> => {
  let current: Invocation | undefined;
  let hasStarted = false;
  let initFailure: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const sendNext = async (response: ServerResponse): Promise<void> => {
    hasStarted = true;
    const invocation = await owner.next(self);
    current = invocation;
    timer = setTimeout(() => {
      finish(invocation.id)?.reject(new Error(`${name} timed out after ${functionTimeoutMs} ms`));
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

  const finish = (id: string): Invocation | undefined => {
    clearTimeout(timer);
    const done = current?.id === id ? current : undefined;
    if (done) current = undefined;
    return done;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const resource = (request.url ?? '').replace('/2018-06-01/runtime/', '');
    if (resource === 'invocation/next') return sendNext(response);
    const text = await bodyText(request);
    const [, id = '', outcome] = resource.split('/');
    if (resource === 'init/error') initFailure = text;
    else if (outcome === 'response') finish(id)?.resolve(text);
    else if (outcome === 'error') finish(id)?.reject(toError(text));
    response.writeHead(202).end('{}');
  };

  const server: Server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, 0);
  const ended = (detail: string): void => {
    server.closeAllConnections();
    server.close();
    if (current) finish(current.id)?.reject(new Error(detail));
    owner.ended(self, !hasStarted, initFailure ? toError(initFailure).message : detail);
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

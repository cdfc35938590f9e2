import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { publishCommands } from './commands.ts';
import { timed } from './timed.ts';

let client: LambdaClient | undefined;

const open = (): LambdaClient => {
  const made = new LambdaClient({ requestHandler: { connectionTimeout: 1000 } });
  return publishCommands(made, 'lambda');
};

/**
 * Runs another function and gives its answer; rejects if it fails, or does not answer within `limitMs`. A connection
 * that breaks off, or that nothing answers on, is tried again: the function may then run twice.
 */
export const invokeFunction = async (name: string, event: object, limitMs: number): Promise<unknown> => {
  client ??= open();
  const lambda = client;
  const command = new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) });
  const { FunctionError, Payload } = await timed(limitMs, () =>
    lambda.send(command, { abortSignal: AbortSignal.timeout(limitMs) }),
  );
  if (FunctionError) throw new Error(`${name} failed: ${FunctionError}`);
  return JSON.parse(Payload?.transformToString() ?? 'null');
};

/** Closes this process's connections, so that scripts and tests can exit. */
export const closeLambda = (): void => {
  client?.destroy();
  client = undefined;
};

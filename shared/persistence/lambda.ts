import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { publishCommands } from './mongo-commands.ts';
import { serviceClient } from './service-client.ts';

const lambda = serviceClient(() =>
  publishCommands(new LambdaClient({ requestHandler: { connectionTimeout: 1000 } }), 'lambda'),
);

/**
 * Invokes a function and returns its result; rejects if it fails or does not respond within `limitMs`. A broken
 * connection is retried, so the function may run twice.
 */
export const invokeFunction = async (name: string, event: object, limitMs: number): Promise<unknown> => {
  const command = new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) });
  const { FunctionError, Payload } = await lambda.on(
    (client) => client.send(command, { abortSignal: AbortSignal.timeout(limitMs) }),
    limitMs,
  );
  if (FunctionError) throw new Error(`${name} failed: ${FunctionError}`);
  return JSON.parse(Payload?.transformToString() ?? 'null');
};

export const closeLambda = lambda.close;

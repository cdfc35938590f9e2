import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { functionFiles, root } from '../build/function-files.ts';
import type { FunctionResult } from './answer.ts';
import type { Invoke } from './gateway.ts';
import { LambdaContext } from './lambda-context.ts';

type Handler = (event: unknown, context: LambdaContext) => Promise<FunctionResult>;

const load = async (file: string): Promise<Handler> => {
  const module: unknown = await import(pathToFileURL(path.join(root, file)).href);
  const { handler } = module as { readonly handler?: unknown };
  if (typeof handler !== 'function') throw new Error(`${file} exports no handler`);
  return handler as Handler;
};

/** Runs the handlers in this process, each imported on its first request. */
export const inProcess = (): Invoke => {
  const files = new Map(functionFiles().map(({ name, file }) => [name, file]));
  const loaded = new Map<string, Handler>();
  const find = async (name: string): Promise<Handler> => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`There is no function ${name}`);
    const handler = await load(file);
    loaded.set(name, handler);
    return handler;
  };
  return async (name, event) => (loaded.get(name) ?? (await find(name)))(event, new LambdaContext(name));
};

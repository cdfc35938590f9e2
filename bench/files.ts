import type { LoadRequest, Target } from './load.ts';
import type { Compared, Operation } from './operation.ts';

/** More would only wait for the one file store. */
const connections = 16;
/** The number of prepared uploads, about as many as a server handles. */
const amountPerSecond = 75;
/** The generator prepares one more request per connection, which it may not send. */
const spare = 2 * connections;

const bytes = 'hello';
const upload = { filename: 'hello.txt', contentType: 'text/plain', size: bytes.length };

const send = async <T>({ url, headers }: Target, route: string, body: unknown): Promise<T> => {
  const response = await fetch(`${url}/api/storage/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${route} answered ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const uploadOne = async (target: Target): Promise<string> => {
  const { signedUrl, filePath } = await send<{ signedUrl: string; filePath: string }>(target, 'upload-request', upload);
  const stored = await fetch(signedUrl, {
    method: 'PUT',
    headers: { 'content-type': upload.contentType },
    body: bytes,
  });
  if (!stored.ok) throw new Error(`The storage answered ${stored.status} ${await stored.text()}`);
  return filePath;
};

const confirmOne = async (target: Target): Promise<string> => {
  const filePath = await uploadOne(target);
  await send(target, 'upload-confirm', { filePath, size: upload.size });
  return filePath;
};

/** Creates `count` items, a few at a time. */
const many = async (count: number, make: () => Promise<string>): Promise<string[]> => {
  const made: string[] = [];
  const maker = async (): Promise<void> => {
    while (made.length < count) made.push(await make());
  };
  await Promise.all(Array.from({ length: connections }, maker));
  return made;
};

interface FileOperation extends Compared {
  /** Creates the item that one request consumes, if it needs one. */
  readonly prepare?: (target: Target) => Promise<string>;
  readonly request: (paths: readonly string[]) => LoadRequest;
}

const area = 'files';

const operations: readonly FileOperation[] = [
  {
    name: 'upload-request',
    area,
    aim: { speed: 0.7, counted: 0.65 },
    request: () => ({
      method: 'POST',
      connections,
      path: () => '/api/storage/upload-request',
      body: () => JSON.stringify(upload),
    }),
  },
  {
    name: 'upload-confirm',
    area,
    aim: { speed: 0.8, counted: 0.65 },
    prepare: uploadOne,
    request: (paths) => {
      const left = [...paths];
      return {
        method: 'POST',
        connections,
        path: () => '/api/storage/upload-confirm',
        body: () => JSON.stringify({ filePath: left.pop(), size: upload.size }),
      };
    },
  },
  {
    name: 'delete file',
    area,
    aim: { speed: 0.45, counted: 0.45 },
    prepare: confirmOne,
    request: (paths) => {
      const left = [...paths];
      return {
        method: 'DELETE',
        connections,
        path: () => '/api/storage/file',
        body: () => JSON.stringify({ path: left.pop() }),
      };
    },
  },
];

/** File operations. The bytes never pass through a server. */
export const fileOperations: readonly Operation[] = operations.map(({ prepare: makeOne, request, ...compared }) => ({
  ...compared,
  usesUp: makeOne !== undefined,
  prepare: async (_name, target, seconds) => {
    if (!makeOne) return request([]);
    const amount = Math.ceil(amountPerSecond * seconds);
    const paths = await many(amount + spare, () => makeOne(target));
    return { ...request(paths), amount };
  },
}));

/** The systems that the service calls; `own database` is a customer's. */
export type System = 'mongodb' | 'own database' | 'dynamodb' | 's3' | 'sqs' | 'provider' | 'lambda';

const opMessage = 2013;
const headerBytes = 21;

/** Commands of the protocol, not operations. */
const housekeeping = new Set(['hello', 'ismaster', 'isMaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

/** The first key of the document at `offset`: the name of a MongoDB command. */
const firstKey = (chunk: Buffer, offset: number): string => {
  const end = chunk.indexOf(0, offset + 5);
  return chunk.toString('latin1', offset + 5, end);
};

const mongoCommand = (chunk: Buffer): string | undefined => {
  if (chunk.length < headerBytes + 5 || chunk.readInt32LE(12) !== opMessage || chunk[20] !== 0) return undefined;
  const name = firstKey(chunk, headerBytes);
  return housekeeping.has(name) ? undefined : name;
};

const requestLine = /^(GET|HEAD|PUT|POST|PATCH|DELETE) (\S+) HTTP\/1\.1\r\n/;
const target = /^x-amz-target: *\w+\.(\w+)\r$/im;

const httpCommand = (system: System, chunk: Buffer): string | undefined => {
  const text = chunk.toString('latin1', 0, Math.min(chunk.length, 4096));
  const [, method, path = ''] = requestLine.exec(text) ?? [];
  if (method === undefined) return undefined;
  return (
    target.exec(text)?.[1] ??
    `${method} ${system === 's3' ? (/\?[\w-]+/.exec(path)?.[0] ?? '') : path.split('?')[0]}`.trimEnd()
  );
};

/** The command that begins with these bytes; `undefined` for continued and keep-alive data. */
export const nameOf = (system: System, chunk: Buffer): string | undefined =>
  system === 'mongodb' || system === 'own database' ? mongoCommand(chunk) : httpCommand(system, chunk);

const reads: Readonly<Record<System, RegExp>> = {
  mongodb: /^(find|aggregate|count|distinct|getMore|dbStats|collStats|list\w+)$/,
  'own database': /^(find|aggregate|count|distinct|getMore|dbStats|collStats|list\w+)$/,
  dynamodb: /^(GetItem|Query|BatchGetItem|TransactGetItems)$/,
  s3: /^(GET|HEAD)/,
  sqs: /^(ReceiveMessage|Get\w+)$/,
  provider: /^GET/,
  lambda: /^$/,
};

/** True if a command changes data. */
export const isChange = (system: System, name: string): boolean => !reads[system].test(name);

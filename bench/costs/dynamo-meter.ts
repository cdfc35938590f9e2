import { request as ask, createServer } from 'node:http';
import { listen } from '../../infra/local/ports.ts';

interface Call {
  readonly TransactItems?: readonly unknown[];
  readonly ConsistentRead?: boolean;
}

interface DynamoUnits {
  readonly writes: number;
  readonly reads: number;
}

/** DynamoDB's request units of a call: writes per 1 KiB and reads per 4 KiB. */
export const unitsOf = (operation: string, { TransactItems = [], ConsistentRead }: Call): DynamoUnits => {
  if (operation === 'TransactWriteItems') return { writes: 2 * TransactItems.length, reads: 0 };
  if (operation === 'TransactGetItems') return { writes: 0, reads: 2 * TransactItems.length };
  if (/^(?:Put|Update|Delete)Item$/.test(operation)) return { writes: 1, reads: 0 };
  if (/^(?:GetItem|Query)$/.test(operation)) return { writes: 0, reads: ConsistentRead ? 1 : 0.5 };
  throw new Error(`Nothing is known of what ${operation} costs`);
};

export interface DynamoMeter {
  readonly url: string;
  /** The units since the last call. */
  readonly take: () => DynamoUnits;
  readonly stop: () => void;
}

/** A proxy in front of DynamoDB that counts request units. */
export const startDynamoMeter = async (dynamoUrl: string): Promise<DynamoMeter> => {
  let units = { writes: 0, reads: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
      const { writes, reads } = unitsOf(operation, JSON.parse(body.toString()) as Call);
      units = { writes: units.writes + writes, reads: units.reads + reads };
      const passed = ask(
        `${dynamoUrl}${request.url}`,
        { method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      passed.on('error', () => response.destroy());
      passed.end(body);
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server, 0)}`,
    take: () => {
      const taken = units;
      units = { writes: 0, reads: 0 };
      return taken;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

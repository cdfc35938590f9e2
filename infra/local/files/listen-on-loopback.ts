import { Server } from 'node:net';

/** Makes every TCP server of this process listen on loopback only; the S3 emulation would let the whole network in. */
export const listenOnLoopback = (): void => {
  const { listen } = Server.prototype;
  const onLoopback = function (this: Server, ...args: unknown[]): Server {
    const [first, ...rest] = args;
    const onPort = typeof first === 'object' && first !== null && 'port' in first;
    const safe = onPort
      ? [{ ...first, host: '127.0.0.1' }, ...rest]
      : typeof first === 'number'
        ? [first, '127.0.0.1', ...rest.filter((argument) => typeof argument !== 'string')]
        : args;
    return Reflect.apply(listen, this, safe);
  };
  Server.prototype.listen = onLoopback;
};

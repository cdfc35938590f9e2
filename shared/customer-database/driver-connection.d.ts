/** What the driver has in this file and does not declare: the connection that its clients make by default. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Transform } from 'node:stream';

  export class Connection extends EventEmitter {
    constructor(stream: Duplex, options: object);
    readonly id: number | '<monitor>';
    /** True once the handshake and the sign-in are done. */
    readonly established: boolean;
    /** There while a reply is waited for. */
    readonly dataEvents: object | null;
    /** Cuts what the socket brings into messages. */
    readonly messageStream: Transform;
    destroy(): void;
  }
}

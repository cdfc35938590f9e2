/** Parts of the driver's default connection class that it does not declare. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Transform } from 'node:stream';

  export class Connection extends EventEmitter {
    constructor(stream: Duplex, options: object);
    readonly id: number | '<monitor>';
    /** Handshake and authentication are done. */
    readonly established: boolean;
    /** Set while a reply is awaited. */
    readonly dataEvents: object | null;
    /** Splits the socket's data into messages. */
    readonly messageStream: Transform;
    destroy(): void;
  }
}

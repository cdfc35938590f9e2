/** Parts of the driver's default connection class that it does not declare. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Transform } from 'node:stream';

  export class Connection extends EventEmitter {
    constructor(stream: Duplex, options: object);
    readonly id: number | '<monitor>';
    readonly established: boolean;
    readonly dataEvents: object | null;
    readonly messageStream: Transform;
    destroy(): void;
  }
}

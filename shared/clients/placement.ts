/** Where a project's documents live: a cluster of ours, or its own database. Its users live in ours either way. */
export type Placement = (
  | { readonly kind: 'managed'; readonly cell: string }
  | {
      readonly kind: 'external';
      readonly host: string;
      /** The URI as it is stored; each connection that was made has another one. */
      readonly encryptedUri: string;
      readonly openUri: () => Promise<string>;
    }
) & {
  /** When the project moved there, if it has. */
  readonly since?: Date;
};

/** What has to be known of a project to reach its documents. */
export interface Placed {
  /** Hexadecimal id of the project. */
  readonly id: string;
  readonly placement: Placement;
}

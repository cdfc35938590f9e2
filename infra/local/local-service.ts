/** A part of the local stack that runs beside this process. */
export interface LocalService {
  /** Where it can be reached, as a URI. */
  readonly address: string;
  stop(): Promise<void>;
}

export interface LocalServiceOptions {
  /** Told about what takes longer than a moment, for the person who waits. */
  readonly report: (step: string) => void;
  /** The part ended although nobody stopped it. */
  readonly onExit: (detail: string) => void;
}

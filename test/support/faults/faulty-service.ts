import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startDynamo } from '../../../infra/local/dynamo.ts';
import { startFiles } from '../../../infra/local/files/start-files.ts';
import type { LocalService } from '../../../infra/local/helper-process.ts';
import { startMongo } from '../../../infra/local/mongo/engine.ts';
import { probePort } from '../../../infra/local/ports.ts';
import { descendantsOf, stillRunning } from '../clients/local-start.ts';
import { FaultProxy, type ProxyTarget } from './proxy.ts';

const quiet = { report: () => undefined, onExit: () => undefined };
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** True if both ports of a file store are free. Threads of a killed process may hold them for a moment. */
const isFree = (port: number): Promise<boolean> =>
  Promise.all([probePort(port + 6), probePort(port + 7)]).then(
    () => true,
    () => false,
  );

/** The target of a MongoDB URI or an HTTP address. */
export const targetOf = ({ address }: Pick<LocalService, 'address'>): ProxyTarget => {
  const { protocol, hostname, port } = new URL(address);
  return protocol === 'mongodb:' ? { path: decodeURIComponent(hostname) } : { port: Number(port) };
};

/** A service that can be stopped, killed and restarted; clients connect through `proxy`. */
export class FaultyService {
  readonly proxy: FaultProxy;
  readonly #launch: () => Promise<LocalService>;
  readonly #program: string;
  #part: LocalService;

  private constructor(launch: () => Promise<LocalService>, program: string, part: LocalService, proxy: FaultProxy) {
    this.#launch = launch;
    this.#program = program;
    this.#part = part;
    this.proxy = proxy;
  }

  static async #start(launch: () => Promise<LocalService>, program: string): Promise<FaultyService> {
    const part = await launch();
    return new FaultyService(launch, program, part, await FaultProxy.start(targetOf(part)));
  }

  static mongo(directory: string): Promise<FaultyService> {
    const data = path.join(directory, 'mongo');
    return FaultyService.#start(() => startMongo(data, undefined, quiet), `host.mjs\0${data}\0`);
  }

  static dynamo(directory: string): Promise<FaultyService> {
    const file = path.join(directory, 'dynamo.db');
    const options = { ...quiet, directory, endpoint: undefined, table: 'basalt', region: 'eu-west-1', credentials };
    return FaultyService.#start(() => startDynamo(options), `--db-path\0${file}\0`);
  }

  /** S3, with public files on the sixth port after `port`, which comes from `freePorts`. */
  static files(directory: string, port: number): Promise<FaultyService> {
    const data = path.join(directory, 'files');
    const options = { ...quiet, directory: data, bucket: 'basalt-files', publicFolder: 'files', port };
    const launch = async (): Promise<LocalService> => {
      while (!(await isFree(port))) await pause(20);
      const { s3Url, stop } = await startFiles({ ...options, region: 'eu-west-1', keys: credentials });
      return { address: s3Url, stop };
    };
    return FaultyService.#start(launch, `\0${data}\0`);
  }

  /** Its own process, not the supervising shell; `undefined` if it was killed. */
  async #pid(): Promise<number | undefined> {
    for (const pid of descendantsOf(process.pid).reverse()) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (command.endsWith(this.#program) && !command.startsWith('sh\0')) return pid;
    }
    return undefined;
  }

  async #signal(signal: NodeJS.Signals): Promise<number> {
    const pid = await this.#pid();
    if (pid === undefined) throw new Error(`Nothing runs as ${this.#program}`);
    process.kill(pid, signal);
    return pid;
  }

  /** Suspends its process; connections stay open. */
  async freeze(): Promise<void> {
    await this.#signal('SIGSTOP');
  }

  /** Ends all faults of it and its proxy. */
  async heal(): Promise<void> {
    if ((await this.#pid()) === undefined) await this.restart();
    else await this.#signal('SIGCONT');
    await this.proxy.heal();
  }

  /** `kill -9`; resolves when the process has ended. */
  async kill(): Promise<void> {
    const pid = await this.#signal('SIGKILL');
    while (stillRunning([pid]).length > 0) await pause(10);
  }

  /** Restarts it with its data. */
  async restart(): Promise<void> {
    this.#part = await this.#launch();
    this.proxy.target = targetOf(this.#part);
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    await this.#part.stop();
  }
}

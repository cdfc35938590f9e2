import { type Signal, signal } from '@preact/signals';
import { type Problem, problemOf } from '../../api/problem.ts';
import { uploadFile, type Visibility } from '../../api/upload.ts';
import { files } from '../../text/files.ts';
import { say } from '../../ui/toast.tsx';

/** An upload that is not finished: its progress, or why it failed. */
export interface Upload {
  readonly id: number;
  readonly file: File;
  readonly visibility: Visibility;
  readonly state: 'waiting' | 'sending' | 'failed';
  readonly sent: number;
  readonly problem?: Problem;
}

const mostAtOnce = 3;

let count = 0;

/** The uploads of a page, which continue whatever becomes of each. */
export class UploadQueue {
  readonly uploads: Signal<readonly Upload[]> = signal([]);
  /** The number of finished uploads. The list of files reloads with each. */
  readonly arrived: Signal<number> = signal(0);
  /** The visibility of the files that are added next. */
  readonly visibility: Signal<Visibility> = signal('public');
  #reported = 0;
  readonly #projectId: string;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  add(files: Iterable<File>): void {
    const added = [...files].map((file): Upload => {
      count += 1;
      return { id: count, file, visibility: this.visibility.peek(), state: 'waiting', sent: 0 };
    });
    this.uploads.value = [...this.uploads.value, ...added];
    this.#next();
  }

  again(id: number): void {
    this.#change(id, { state: 'waiting', sent: 0 });
    this.#next();
  }

  remove(id: number): void {
    this.uploads.value = this.uploads.value.filter((upload) => upload.id !== id);
  }

  #change(id: number, change: Partial<Upload>): void {
    this.uploads.value = this.uploads.value.map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
  }

  #next(): void {
    const sending = this.uploads.value.filter(({ state }) => state === 'sending').length;
    const waiting = this.uploads.value.find(({ state }) => state === 'waiting');
    if (!waiting && sending === 0) this.#report();
    if (!waiting || sending >= mostAtOnce) return;
    void this.#send(waiting);
    this.#next();
  }

  /** Says how many uploads have finished since the last report. */
  #report(): void {
    const count = this.arrived.peek() - this.#reported;
    this.#reported += count;
    if (count > 0) say(files.uploaded(count));
  }

  async #send({ id, file, visibility }: Upload): Promise<void> {
    this.#change(id, { state: 'sending' });
    try {
      await uploadFile(this.#projectId, file, visibility, (sent) => this.#change(id, { sent }));
      this.remove(id);
      this.arrived.value += 1;
    } catch (error) {
      this.#change(id, { state: 'failed', problem: problemOf(error) });
    }
    this.#next();
  }
}

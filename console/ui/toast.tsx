import { signal } from '@preact/signals';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import type { Place } from './places.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | undefined;
  readonly next: Place | undefined;
}

const shownMs = 10_000;
/** More would cover the page. */
const maxShown = 2;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

const remove = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Whether the pointer or the focus is on a message. Then none disappears. */
const isAttended = (): boolean => document.querySelector('.toasts:is(:hover, :focus-within)') !== null;

const removeLater = (id: number): void => {
  setTimeout(() => (isAttended() ? removeLater(id) : remove(id)), shownMs);
};

/** Shows for ten seconds what was done. `undo` takes it back, and `next` is a link to the next step. */
export const say = (text: string, undo?: () => void, next?: Place): void => {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value, { id, text, undo, next }].slice(-maxShown);
  removeLater(id);
};

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, undo, next }) => (
      <div key={id} class="toast">
        <span>
          {text}
          {next && (
            <>
              {' '}
              <a href={next.href} onClick={() => remove(id)}>
                {next.label}
              </a>
            </>
          )}
        </span>
        {undo && (
          <Button
            onClick={() => {
              remove(id);
              undo();
            }}
          >
            {t.acts.undo}
          </Button>
        )}
        <Button kind="plain" aria-label={t.acts.close} onClick={() => remove(id)}>
          ✕
        </Button>
      </div>
    ))}
  </div>
);

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { gap, topOf } from './floating.ts';

interface Props {
  readonly label: ComponentChildren;
  readonly title: string;
  /** Choosing does not close it. */
  readonly stays?: true;
  readonly children: ComponentChildren;
}

/** The next position for a key; from none, -1, the first or the last. */
const steps: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at <= 0 ? count : at) - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/**
 * A menu of actions or links behind a button. The browser opens, closes and stacks it; arrows, Home and End move in
 * it.
 */
export const Menu = ({ label, title, stays, children }: Props) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const place = () => {
    if (!button.current || !menu.current) return;
    const { left, right, top, bottom } = button.current.getBoundingClientRect();
    const { style, offsetWidth, offsetHeight } = menu.current;
    style.top = `${topOf(top, bottom, offsetHeight)}px`;
    style.left = `${Math.max(gap, left + offsetWidth > innerWidth ? right - offsetWidth : left)}px`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (!step || !menu.current || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { activeElement } = document;
    const stops = [...menu.current.querySelectorAll<HTMLElement>('a[href], button:enabled, input:enabled')];
    const next = stops[step(stops.indexOf(activeElement as HTMLElement), stops.length)];
    if (!next) return;
    event.preventDefault();
    menu.current.showPopover();
    next.focus();
  };
  const onButtonKeyDown = (event: KeyboardEvent) => {
    if (event.key.startsWith('Arrow')) onKeyDown(event);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button plain"
        popovertarget={id}
        title={title}
        onKeyDown={onButtonKeyDown}
      >
        {label}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what is clicked are the buttons and links inside. */}
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="auto"
        onBeforeToggle={() => requestAnimationFrame(place)}
        onKeyDown={onKeyDown}
        onClick={() => stays || menu.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  );
};

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface Props {
  readonly label: ComponentChildren;
  readonly title: string;
  /** It is closed by the reader, not by each choice. */
  readonly stays?: true;
  readonly children: ComponentChildren;
}

const gap = 4;

/** A list of acts or places behind a button; the browser opens, closes and keeps it on top. */
export const Menu = ({ label, title, stays, children }: Props) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const place = () => {
    if (!button.current || !menu.current) return;
    const { left, right, bottom } = button.current.getBoundingClientRect();
    const { style, offsetWidth } = menu.current;
    style.top = `${bottom + gap}px`;
    style.left = `${Math.max(gap, left + offsetWidth > innerWidth ? right - offsetWidth : left)}px`;
  };
  return (
    <>
      <button ref={button} type="button" class="button plain" popovertarget={id} title={title}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: what is clicked are the buttons and links inside. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the same. */}
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="auto"
        onBeforeToggle={() => requestAnimationFrame(place)}
        onClick={() => stays || menu.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  );
};

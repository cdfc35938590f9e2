import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface Props {
  readonly label: ComponentChildren;
  readonly title: string;
  readonly children: ComponentChildren;
}

const gap = 4;

/** A list of acts or places behind a button; the browser opens, closes and keeps it on top. */
export const Menu = ({ label, title, children }: Props) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const place = (open: boolean) => {
    if (!open || !button.current || !menu.current) return;
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
        onToggle={(event) => place(event.newState === 'open')}
        onClick={() => menu.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  );
};

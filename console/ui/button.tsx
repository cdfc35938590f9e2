import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type Kind = 'main-act' | 'danger' | 'plain' | undefined;

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'class'> {
  readonly kind?: Kind;
  readonly children: ComponentChildren;
}

const classOf = (kind: Kind): string => (kind ? `button ${kind}` : 'button');

/** Of a double click (`detail` counts): it would do again what the first has done, or to what has come in its place. */
export const isSecondClick = (detail: number): boolean => detail > 1;

/** An act. `main-act` is the one of a screen that most come for. */
export const Button = ({ kind, type = 'button', ...rest }: Props) => (
  <button {...rest} type={type} class={classOf(kind)} />
);

/** A way to another screen that looks like an act. */
export const LinkButton = ({
  kind,
  href,
  download,
  children,
}: {
  readonly kind?: Kind;
  readonly href: string;
  /** The name of the file that it leads to, which is kept instead of shown. */
  readonly download?: string;
  readonly children: ComponentChildren;
}) => (
  <a class={classOf(kind)} href={href} download={download}>
    {children}
  </a>
);

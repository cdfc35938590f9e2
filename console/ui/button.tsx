import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type Kind = 'main-act' | 'danger' | 'plain' | undefined;

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'class'> {
  readonly kind?: Kind;
  readonly children: ComponentChildren;
}

const classOf = (kind: Kind): string => (kind ? `button ${kind}` : 'button');

/**
 * The second click of a double click (`detail` counts) would repeat the action, or hit what has replaced the button.
 */
export const isSecondClick = (detail: number): boolean => detail > 1;

/** `main-act` is the main action of a screen. */
export const Button = ({ kind, type = 'button', ...rest }: Props) => (
  <button {...rest} type={type} class={classOf(kind)} />
);

/** A link that looks like a button. */
export const LinkButton = ({
  kind,
  href,
  download,
  children,
}: {
  readonly kind?: Kind;
  readonly href: string;
  /** The file name, if the link is a download. */
  readonly download?: string;
  readonly children: ComponentChildren;
}) => (
  <a class={classOf(kind)} href={href} download={download}>
    {children}
  </a>
);

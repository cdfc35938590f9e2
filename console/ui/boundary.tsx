import { Component, type ComponentChildren } from 'preact';
import { ProblemNote } from './problem-note.tsx';

interface Props {
  /** Another one is another try. */
  readonly path: string;
  readonly children: ComponentChildren;
}

/** What is inside, or what went wrong as it was drawn: never an empty page. */
export class Boundary extends Component<Props, { readonly error?: unknown; readonly at?: string }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error, at: this.props.path });
  }

  override render() {
    const { error, at } = this.state;
    return at === this.props.path ? <ProblemNote problem={error} /> : this.props.children;
  }
}

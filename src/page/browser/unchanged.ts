/** Components that are not drawn again while their properties stay the same. */
import { Component, type ComponentType, createElement, type FunctionComponent } from "preact";

export function keptUnchanged<P extends object>(drawn: FunctionComponent<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [known, given] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return [...new Set([...Object.keys(known), ...Object.keys(given)])].some((name) => known[name] !== given[name]);
    }

    override render() {
      return createElement(drawn, this.props as P);
    }
  };
}

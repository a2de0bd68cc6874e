package flags

import (
	"context"

	"github.com/spf13/cobra"
)

type placesKey struct{}

// InputsAt returns a context under which commands find folders that are in the results by their paths in other places.
func InputsAt(ctx context.Context, places map[string]string) context.Context {
	return context.WithValue(ctx, placesKey{}, places)
}

// placesOf returns where the inputs of a command are, by their paths, as far as they are in other places.
func placesOf(cmd *cobra.Command) map[string]string {
	places, _ := cmd.Context().Value(placesKey{}).(map[string]string)
	return places
}

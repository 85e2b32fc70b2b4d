package awsclient

import (
	"context"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// PlainBody keeps a request's body from breaking the connection that brings its
// answer. Use it as an API option of every client.
//
// The SDK closes the body as soon as the answer has come. Where the answer is
// quicker than net/http's last look at the body, and the body is one that
// writes itself (io.WriterTo), a closed one reports io.EOF, which net/http takes
// for a failed write: it closes the connection under the answer, and a call that
// AWS has carried out ends as "use of closed network connection"
// (https://github.com/aws/aws-sdk-go-v2/issues/2737). A body that can only be
// read ends with the same io.EOF as it should.
func PlainBody(stack *middleware.Stack) error {
	return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("HadrPlainBody",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if request, ok := in.Request.(*smithyhttp.Request); ok {
				if seekable, ok := request.GetStream().(io.ReadSeeker); ok {
					plain, err := request.SetStream(struct{ io.ReadSeeker }{seekable})
					if err != nil {
						return middleware.FinalizeOutput{}, middleware.Metadata{}, err
					}
					in.Request = plain
				}
			}
			return next.HandleFinalize(ctx, in)
		}), middleware.Before)
}
